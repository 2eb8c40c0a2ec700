export const draft = {
  fromAnotherDevice: 'Unsent text from another device:',
  insert: 'Insert',
  dismiss: 'Dismiss',
  pasteTooLong: 'The pasted text is too long',
  pasteLimit:
    '{count} characters. The limit of a message is {max}. Put the text into a file of the repository and name it here.',
  tooLongToKeep: 'This text is longer than 64 KB. It is kept in this browser only.',
} as const;
