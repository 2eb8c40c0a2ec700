export const adminDanger = {
  actionsThatAffectEveryoneIn: 'Actions that affect everyone in {name}.',
  yourPersonalOrganizationCannotBe: 'Your personal organization cannot be transferred or deleted.',
  itBelongsToYourAccount: 'It belongs to your account and is deleted with it.',
  deleteOrganization: 'Delete organization',
  everyoneExceptOwnersLosesAccess:
    'Everyone except owners loses access immediately. An owner can restore the organization within 48 hours. After that, it is permanently deleted.',
  delete: 'Delete {name}',
  thisOrganizationIsScheduledFor: 'This organization is scheduled for deletion. Restore it from the notice above.',
  immediatelyMembersLoseAccessApi:
    'Immediately: members lose access, API keys stop working, sandboxes stop, and nothing can be changed.',
  after48HoursConversationsSecrets:
    'After 48 hours: conversations, secrets, settings and the audit log are permanently deleted.',
  changesSaved: 'Changes saved.',
  nameAndAddress: 'Name and address',
  theFirstPartOfEvery: 'The first part of every URL of this organization.',
  allUrlsChangeImmediatelyLinks:
    'All URLs change immediately. Links to the old address stop working, and others can claim it.',
  nowOwnsYouAreAn: '{name} now owns {name2}. You are an admin.',
  transferOwnership: 'Transfer ownership',
  aMemberBecomesTheOwner: 'A member becomes the owner, and you become an admin.',
  searchUsers: 'Search users',
  people: 'people',
  thereAreNoOtherMembers: 'There are no other members.',
  inviteSomeoneUnderMembersFirst: 'Invite someone under Members first.',
  noEMailAddress: 'no e-mail address',
  choose: 'Choose {name}',
  choose2: 'Choose',
  chooseANewOwner: 'Choose a new owner',
  transferTo: 'Transfer {name} to {name2}?',
  becomesTheOwnerAndYou:
    '{name} {email}becomes the owner, and you become an admin. Only an owner can make you an owner again, delete {name2} or transfer it.',
} as const;
