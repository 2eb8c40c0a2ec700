export const draft = {
  fromAnotherDevice: 'Unsent text from another device:',
  insert: 'Insert',
  dismiss: 'Dismiss',
  pasteTooLong: 'The pasted text is too long',
  tooLongToKeep: 'This text is longer than 64 KB. It is kept in this browser only.',
} as const;
