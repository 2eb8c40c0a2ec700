export const adminRoles = {
  permission: 'Permission',
  whatEachRoleCanDo: 'What each role can do. Roles are fixed. Assign them under <link>Members</link>.',
  permissionsFor: 'Permissions: {group}',
  work: 'Work',
  yes: 'Yes',
  no: 'No',
} as const;
