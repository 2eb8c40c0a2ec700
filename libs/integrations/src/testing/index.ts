export { type ExampleBody, exampleDelivery, exampleProvider, signedHeaders } from './example-provider.js';
export { ScriptedGitHub } from './scripted-github.js';
export { newKey } from './scripted-github-api.js';
export type { MintedToken, ScriptedAccount, ScriptedInstallation } from './scripted-github-state.js';
export { jiraVendor, linearVendor, ScriptedVendor, slackVendor } from './scripted-vendors.js';
