/** Nouns that are not their slug with a capital letter. */
const NOUNS: Readonly<Record<string, string>> = {
  'api-key': 'API key',
  'llm-profile': 'LLM profile',
  'mcp-server': 'MCP server',
  org: 'Organization',
  person: 'User',
  'prompt-log': 'Prompts',
  terms: 'Terms of service',
};

/** What a verb has done to its noun. */
const VERBS: Readonly<Record<string, string>> = {
  accept: 'accepted',
  approve: 'approved',
  authorize: 'authorized',
  change: 'changed',
  claim: 'claimed',
  condense: 'condensed',
  create: 'created',
  deactivate: 'deactivated',
  delete: 'deleted',
  deleted: 'deleted for good',
  'delete-oauth-client': 'OAuth client deleted',
  disconnect: 'disconnected',
  'end-sessions': 'sessions ended',
  export: 'exported',
  inherit: 'reset to that of everybody',
  'install-app': 'app installed',
  'install-hook': 'hook installed',
  join: 'joined',
  leave: 'left',
  merge: 'merged',
  override: 'set for one user',
  pause: 'paused',
  publish: 'published',
  reactivate: 'reactivated',
  'record-found': 'record found',
  'record-missing': 'record missing',
  redeliver: 'delivery repeated',
  'release-account': 'account given up',
  'replace-app-secrets': 'secrets of the app replaced',
  refuse: 'refused',
  reject: 'rejected',
  'register-app': 'app registered',
  release: 'released',
  'remove-hook': 'hook removed',
  remove: 'removed',
  rename: 'renamed',
  'repair-hooks': 'hooks repaired',
  resend: 'sent again',
  restore: 'restored',
  resume: 'resumed',
  revoke: 'revoked',
  'revoke-rule': 'rule revoked',
  rotate: 'rotated',
  'rotate-secret': 'secret rotated',
  'select-hooks': 'repositories with hooks chosen',
  'set-confirmation': 'confirmation policy set',
  'set-model': 'model set',
  'set-oauth-client': 'OAuth client set',
  'set-role': 'role set',
  'set-run-settings': 'run settings set',
  // Of before 0.1.0.
  'set-terms': 'run settings set',
  stop: 'stopped',
  test: 'tested',
  transfer: 'transferred',
  unverify: 'no longer verified',
  update: 'updated',
  use: 'used',
  verify: 'verified',
};

/** Actions that are no noun with a verb in English. */
const WHOLE: Readonly<Record<string, string>> = {
  'conversation.approve': 'Actions approved',
  'conversation.ask': 'Question asked beside a conversation',
  'conversation.reject': 'Actions rejected',
  'device.approve': 'Program connected',
  'org.delete': 'Deletion of the organization requested',
  'sandbox.access': 'Access to a sandbox given',
  'sandbox.revoke': 'Access to a sandbox ended',
  'security.update': 'Security settings changed',
  'session.end': 'Signed out',
  'session.start': 'Signed in',
  'setting.update': 'Settings changed',
  'storage.limit': 'Storage limit set',
};

/** An action (`noun.verb`) in words; one that this page does not know yet stays as it is. */
export function actionWords(action: string): string {
  const whole = WHOLE[action];
  if (whole !== undefined) return whole;
  const [noun = '', verb = ''] = action.split('.');
  const done = VERBS[verb];
  if (done === undefined) return action;
  const words = noun.replaceAll('-', ' ');
  return `${NOUNS[noun] ?? words.charAt(0).toUpperCase() + words.slice(1)} ${done}`;
}
