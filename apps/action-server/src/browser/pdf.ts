/** What a document of the browser's viewer of PDFs says that it is. */
export const PDF = 'application/pdf';
/** Its text is in the viewer, which cannot be read. */
export const ABOUT_PDF =
  'This is a PDF. Its pages are on a screenshot only: fetch the file with curl and read its text with a program, such as pdftotext.';
