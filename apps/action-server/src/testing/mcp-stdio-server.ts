import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { honestServer } from './mcp-tools.js';

/**
 * `node mcp-stdio-server.js`: an MCP server over its standard streams. It returns the variable `TOKEN`, and whether it
 * sees `OTHER_SECRET`.
 */
const { TOKEN, OTHER_SECRET } = process.env;
await honestServer(() => `token ${TOKEN}, other ${OTHER_SECRET}`).connect(new StdioServerTransport());
