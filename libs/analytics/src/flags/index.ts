export {
  confirmDefinitions,
  FlagDefinitions,
  readDefinitions,
  type StoredDefinitions,
  writeDefinitions,
} from './definitions.js';
export { Flags } from './flags.js';
export { StaticFlags, StringFlags } from './static-provider.js';
