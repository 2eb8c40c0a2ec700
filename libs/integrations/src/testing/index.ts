export { type ExampleBody, exampleDelivery, exampleProvider, signedHeaders } from './example-provider.js';
export {
  type MintedToken,
  newKey,
  type ScriptedAccount,
  ScriptedGitHub,
  type ScriptedInstallation,
} from './scripted-github.js';
export { jiraVendor, linearVendor, ScriptedVendor, slackVendor } from './scripted-vendors.js';
