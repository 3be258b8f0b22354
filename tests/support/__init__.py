"""What several test files need: literal twins, inputs, servers, terminals, and examples."""
