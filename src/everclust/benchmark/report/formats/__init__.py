"""Write a document as HTML or Markdown."""
