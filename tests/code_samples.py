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

# Language -> its sample, and the definitions in it.
SAMPLES: Final[dict[str, tuple[str, list[Definition]]]] = {
    "python": (
        _PYTHON,
        [
            ("class", 0, "class Store"),
            ("function", 1, "def get"),
            ("function", 1, "async def size"),
            ("function", 0, "def main"),
        ],
    ),
    "javascript": (
        _JAVASCRIPT,
        [
            ("class", 0, "export default class Store"),
            ("function", 1, "get"),
            ("function", 0, "export const size"),
            ("function", 0, "function main"),
        ],
    ),
    "typescript": (
        _TYPESCRIPT,
        [
            ("class", 0, "export interface Query"),
            ("type", 0, "type Rows"),
            ("type", 0, "enum Level"),
            ("class", 0, "abstract class Store"),
            ("function", 1, "get"),
            ("class", 0, "namespace tools"),
            ("function", 1, "export function size"),
        ],
    ),
    "tsx": (_TSX, [("function", 0, "export function View")]),
    "go": (
        _GO,
        [
            ("type", 0, "type Store struct"),
            ("function", 0, "func (s *Store) Get"),
            ("function", 0, "func main"),
        ],
    ),
    "rust": (
        _RUST,
        [
            ("class", 0, "pub struct Store"),
            ("class", 0, "impl fmt::Display for Store"),
            ("function", 1, "fn fmt"),
            ("class", 0, "mod tests"),
            ("type", 1, "pub enum Level"),
            ("class", 0, "trait Sized"),
            ("function", 1, "fn size"),
        ],
    ),
    "java": (
        _JAVA,
        [
            ("class", 0, "public class Store"),
            ("function", 1, "public String get"),
            ("type", 1, "enum Level"),
        ],
    ),
    "c": (
        _C,
        [
            ("class", 0, "struct store"),
            ("class", 0, "typedef struct"),
            ("function", 0, "get"),
            ("function", 0, "int main"),
        ],
    ),
    "cpp": (
        _CPP,
        [
            ("class", 0, "namespace store"),
            ("class", 1, "class Store"),
            ("function", 2, "T get"),
            ("function", 1, "int size"),
        ],
    ),
    "ruby": (
        _RUBY,
        [
            ("class", 0, "module Tools"),
            ("class", 1, "class Store"),
            ("function", 2, "def get"),
            ("function", 2, "def self.make"),
        ],
    ),
    "shell": (_SHELL, [("function", 0, "store")]),
    "json": (_JSON, []),
    "yaml": (_YAML, []),
    "toml": (_TOML, [("type", 0, "[store]"), ("type", 0, "[[store.level]]")]),
}
