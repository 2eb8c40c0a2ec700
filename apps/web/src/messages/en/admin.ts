export const admin = {
  admin: 'Admin',
  member: 'Member',
  viewer: 'Viewer',
  fullAccessOnlyOwnersCan: 'Full access. Only owners can transfer or delete the organization.',
  fullAccessExceptTransferringOr: 'Full access, except transferring or deleting the organization.',
  canGiveTasksToAgents: 'Can give tasks to agents and work with the results.',
  readOnlyConversationsAndThe: 'Read-only: conversations and the member list.',
  groupPeople: 'People',
  groupAgents: 'Agents',
  groupSpend: 'Spend',
  groupSecurity: 'Security',
} as const;
