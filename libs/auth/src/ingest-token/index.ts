export { IngestTokens } from './ingest-token.js';
