export const adminRoles = {
  permission: 'Permission',
  whatEachRoleCanDo: 'What each role can do. Roles are fixed. Assign them under <link>Members</link>.',
  permissionsByRole: 'Permissions by role',
  yes: 'Yes',
  no: 'No',
} as const;
