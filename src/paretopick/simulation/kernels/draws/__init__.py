"""Random words and normals by counter, sums of Bernoulli pulls, and pulls of arms made of them."""
