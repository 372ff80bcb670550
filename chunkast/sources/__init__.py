"""Documents of any kind, one or many: notebooks, and batches over processes."""
