"""A short file of every language, and the definitions in it: kind, depth and title."""

from __future__ import annotations

from typing import Final

__all__ = ("SAMPLES",)

Definition = tuple[str, int, str]

_PYTHON: Final = '''
#!/usr/bin/env python
"""Keeps things."""

import os
from pathlib import Path

LIMIT = 3


# Where things are kept.
@final
class Store:
    """A store."""

    def get(self, key: str) -> str:
        return self.rows[key]

    @property
    async def size(
        self,
    ) -> int:
        return len(self.rows)


def main():
    if LIMIT:
        print(LIMIT)
    else:
        print(0)
'''
_JAVASCRIPT: Final = """
import fs from "fs";

/** Keeps things. */
export default class Store {
  get(key) {
    return this.rows[key];
  }
}

export const size = (store) => {
  return store.rows.length;
};

function main() {
  console.log(size);
}
"""
_TYPESCRIPT: Final = """
import { Row } from "./row";

// What a store is asked for.
export interface Query {
  key: string;
}

type Rows = {
  [key: string]: Row;
};

enum Level {
  Low,
  High,
}

@Injectable()
abstract class Store<T> {
  @Input()
  get(key: string): T {
    return this.rows[key];
  }
}

namespace tools {
  export function size(store: Store<Row>): number {
    return 1;
  }
}
"""
_TSX: Final = """
export function View({ rows }: Props) {
  return (
    <ul>
      {rows.map((row) => (
        <li>{row}</li>
      ))}
    </ul>
  );
}
"""
_GO: Final = """
package store

import (
	"fmt"
)

// Store keeps things.
type Store struct {
	rows map[string]string
}

func (s *Store) Get(key string) string {
	return s.rows[key]
}

func main() {
	fmt.Println("a")
}
"""
_RUST: Final = """
use std::fmt;

/// Keeps things.
#[derive(Debug)]
pub struct Store {
    rows: Vec<String>,
}

impl fmt::Display for Store {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.rows.len())
    }
}

mod tests {
    pub enum Level {
        Low,
        High,
    }
}

trait Sized {
    fn size(&self) -> usize;
}
"""
_JAVA: Final = """
package store;

import java.util.Map;

/** Keeps things. */
@Deprecated
public class Store {
    private Map<String, String> rows;

    @Override
    public String get(String key) {
        return rows.get(key);
    }

    enum Level {
        LOW,
        HIGH
    }
}
"""
_C: Final = """
#include <stdio.h>

/* Keeps things. */
struct store {
    int size;
};

typedef struct {
    int low;
} level_t;

static int
get(struct store *store)
{
    return store->size;
}

int main(void) {
    printf("a");
    return 0;
}
"""
_CPP: Final = """
#include <string>

namespace store {

// Keeps things.
template <typename T>
class Store {
public:
    T get(const std::string &key) {
        return rows[key];
    }
};

int size() {
    return 1;
}

}
"""
_RUBY: Final = """
require "set"

# Keeps things.
module Tools
  class Store
    def get(key)
      @rows[key]
    end

    def self.make
      new
    end
  end
end
"""
_SHELL: Final = """
#!/bin/sh
set -eu

# Keeps things.
store() {
  echo "$1"
}

for name in a b; do
  store "$name"
done
"""
_JSON: Final = """
{
  "rows": [
    {
      "key": 1
    },
    {
      "key": 2
    }
  ],
  "size": 2
}
"""
_YAML: Final = """
# Keeps things.
store:
  rows:
    - key: 1
      value: a
    - key: 2
size: 2
"""
_TOML: Final = """
title = "store"

# Keeps things.
[store]
rows = [
  1,
  2,
]

[[store.level]]
low = 1
"""


def _sample(text: str, definitions: str = "") -> tuple[str, list[Definition]]:
    """A sample and its definitions, of which each has one ">" for each one around it."""
    rows = [row.partition(": ") for row in definitions.split(" | ") if row]
    return text, [(kind.strip(">"), kind.count(">"), title) for kind, _, title in rows]


# Language -> its sample, and the definitions in it.
SAMPLES: Final = {
    "python": _sample(
        _PYTHON,
        "class: class Store | >function: def get | >function: async def size | function: def main",
    ),
    "javascript": _sample(
        _JAVASCRIPT,
        "class: export default class Store | >function: get | function: export const size | "
        "function: function main",
    ),
    "typescript": _sample(
        _TYPESCRIPT,
        "class: export interface Query | type: type Rows | type: enum Level | "
        "class: abstract class Store | >function: get | class: namespace tools | "
        ">function: export function size",
    ),
    "tsx": _sample(_TSX, "function: export function View"),
    "go": _sample(
        _GO,
        "type: type Store struct | function: func (s *Store) Get | function: func main",
    ),
    "rust": _sample(
        _RUST,
        "class: pub struct Store | class: impl fmt::Display for Store | >function: fn fmt | "
        "class: mod tests | >type: pub enum Level | class: trait Sized | >function: fn size",
    ),
    "java": _sample(
        _JAVA,
        "class: public class Store | >function: public String get | >type: enum Level",
    ),
    "c": _sample(
        _C,
        "class: struct store | class: typedef struct | function: get | function: int main",
    ),
    "cpp": _sample(
        _CPP,
        "class: namespace store | >class: class Store | >>function: T get | >function: int size",
    ),
    "ruby": _sample(
        _RUBY,
        "class: module Tools | >class: class Store | >>function: def get | "
        ">>function: def self.make",
    ),
    "shell": _sample(_SHELL, "function: store"),
    "json": _sample(_JSON),
    "yaml": _sample(_YAML),
    "toml": _sample(_TOML, "type: [store] | type: [[store.level]]"),
}
