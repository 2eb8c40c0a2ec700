export const app = {
  description: 'Coding agents that work on your repositories in isolated sandboxes.',
  notFound: 'Not found',
  pageNotFound: 'Page not found',
  goHome: 'Go home',
  itMayHaveBeenDeleted: 'It may have been deleted, or belong to another organization.',
  createOrganization: 'Create organization',
  signIn: 'Sign in',
  invitation: 'Invitation',
  connectADevice: 'Connect a device',
  integration: 'Integration',
} as const;
