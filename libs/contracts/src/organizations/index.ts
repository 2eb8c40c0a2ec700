export {
  AUTO_JOIN_ROLES,
  ClaimDomain,
  DomainName,
  MAX_DOMAINS,
  OrgDomain,
  OrgDomainList,
  UpdateDomain,
} from './domains.js';
export {
  CreateInvitations,
  INVITATION_STATES,
  Invitation,
  InvitationOutcome,
  InvitationOutcomes,
  InvitationPage,
  InvitationPreview,
  ListInvitationsQuery,
  MAIL_STATES,
  MAX_INVITED_AT_ONCE,
  MAX_OPEN_INVITATIONS,
  SentInvitation,
} from './invitations.js';
export {
  KnownCredential,
  ListMembersQuery,
  MAX_KNOWN_CREDENTIALS,
  MEMBER_SOURCES,
  Member,
  MemberPage,
  MemberRemoval,
  RemoveMemberQuery,
  UpdateMember,
} from './members.js';
export { DEFAULT_ORG_SETTINGS, OrgSettings, OrgSettingValues, UpdateOrgSettings } from './org-settings.js';
export {
  CreateOrg,
  DeleteOrg,
  Me,
  ModelInfo,
  ModelList,
  Org,
  OrgList,
  OrgName,
  OrgSlug,
  RESERVED_SLUGS,
  TransferOrg,
  UpdateOrg,
} from './orgs.js';
export {
  PERMISSIONS,
  type Permission,
  type Principal,
  permissionsOfKey,
  ROLE_PERMISSIONS,
  ROLES,
  type Role,
} from './permissions.js';
export {
  ListMemberSessionsQuery,
  MAX_SESSION_MINUTES,
  MemberSession,
  MemberSessionPage,
  MIN_IDLE_MINUTES,
  MIN_SESSION_MINUTES,
  SecurityRules,
  SecurityRuleValues,
  UpdateSecurityRules,
} from './security.js';
