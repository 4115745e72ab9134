"""Free text: find what identifies people in documents, replace it, and measure what is left."""
