const USE = {
  form: 'bearer',
  places: [{ host: 'api.example.com', port: 443, methods: ['GET', 'POST'], paths: ['/v1/**'], foreign: 'refuse' }],
};

/** Part of FIELD_EXAMPLES: prompts, and what sandboxes reach. */
export const PROMPT_AND_EGRESS_EXAMPLES: Readonly<Record<string, unknown>> = {
  'prompts.prompt': 'prm_01k2a8t6g8h0j2k4m6n8p0q2r4',
  'Prompt.id': 'prm_01k2a8t6g8h0j2k4m6n8p0q2r4',
  ...Object.fromEntries(
    ['Prompt', 'CreatePrompt', 'UpdatePrompt'].flatMap((schema) => [
      [`${schema}.name`, 'fix-flaky'],
      [`${schema}.description`, 'Finds out why a test is flaky'],
      [`${schema}.text`, 'Find out why {{test}} is flaky, and fix it.'],
    ]),
  ),
  'prompts.search': 'flaky',
  rule: 'egr_06hfh8n5t8vb5q7cyrqf2k3m9a',
  'conversations.request': 'egq_06hfh8n5t8vb5q7cyrqf2k3m9b',
  'EgressRequest.id': 'egq_06hfh8n5t8vb5q7cyrqf2k3m9b',
  'EgressRequest.actionId': '0197c0de-0000-7000-8000-000000000001',
  'EgressAskedBy.line': 'npm ci',
  'EgressRequest.host': 'api.example.com',
  'EgressRequest.decidedBy': 'Ada Lovelace',
  'ObservedHost.host': 'registry.example.com',
  'EgressRule.id': 'egr_06hfh8n5t8vb5q7cyrqf2k3m9a',
  'EgressRule.requestId': null,
  'EgressRule.methods': ['GET', 'HEAD', 'OPTIONS'],
  'EgressRule.paths': ['/v1/**'],
  'EgressRule.foreign': 'refuse',
  'EgressRule.websocket': false,
  'CreateEgressRule.methods': ['GET', 'HEAD', 'OPTIONS'],
  'CreateEgressRule.paths': ['/v1/**'],
  'AnswerEgressRequest.methods': ['GET', 'HEAD', 'OPTIONS'],
  'AnswerEgressRequest.paths': ['/v1/**'],
  'AnswerEgressRequest.host': 'api.example.com',
  credential: 'crd_06hfh8n5t8vb5q7cyrqf2k3m9c',
  'Credential.id': 'crd_06hfh8n5t8vb5q7cyrqf2k3m9c',
  'Credential.name': 'API_TOKEN',
  'Credential.scopeValue': null,
  CredentialUse: USE,
  WithheldSecrets: {
    data: [{ id: 'sec_01k2a8t6g8h0j2k4m6n8p0q2r4', name: 'NPM_TOKEN', kind: 'variable', scope: 'org' }],
    count: 2,
    personal: 1,
  },
};
