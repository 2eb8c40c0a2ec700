export const newOrg = {
  createOrganization: 'Create organization',
  membersShareConversationsKeysAnd: 'Members share conversations, keys and a budget. You become the owner.',
  acme: 'Acme',
  theFirstPartOfIts: 'The first part of its URLs: lower-case letters, digits and dashes. You can change it later.',
  acme2: 'acme',
} as const;
