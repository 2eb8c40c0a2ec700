export { confirmDefinitions, FlagDefinitions, readDefinitions, type StoredDefinitions, writeDefinitions } from './definitions.js';
export { flagVariables, staticFlagsVariable } from './flag-variables.js';
export { Flags } from './flags.js';
export { StaticFlags, StringFlags } from './static-provider.js';
