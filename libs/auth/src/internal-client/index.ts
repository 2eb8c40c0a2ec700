export { type ChangeListener, InternalClient, type InternalClientOptions } from './internal-client.js';
