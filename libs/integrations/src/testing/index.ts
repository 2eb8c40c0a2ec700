export { type ExampleBody, exampleDelivery, exampleProvider, signedHeaders } from './example-provider.js';
export { jiraVendor, linearVendor, ScriptedVendor, slackVendor } from './scripted-vendors.js';
