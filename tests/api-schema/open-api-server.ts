import { writeFile } from 'node:fs/promises';
import { PERMISSIONS } from '@slipway/contracts/organizations';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { makeKey } from '../../apps/app-server/dist/testing/with-key.js';

type Json = Record<string, unknown>;
interface Document {
  readonly paths: Record<
    string,
    Record<string, Json & { operationId: string; parameters?: Json[]; security?: Json[] }>
  >;
  readonly components: { securitySchemes?: Json };
}

/**
 * Requests that can end the caller's credential, or its organization: values of answers are sent again, so sooner or
 * later it does.
 */
export const ENDING: ReadonlySet<string> = new Set([
  'me.sessions.delete',
  'me.sessions.end-all',
  'api-keys.delete',
  'api-keys.rotate',
  'orgs.delete',
  'member-sessions.delete',
  'member-sessions.end-all',
  'security.update',
]);

/**
 * app-server with one owner of a company organization, a key of theirs that can do all that they can, and a
 * conversation.
 */
export interface ApiServer {
  readonly app: ConversationApp;
  readonly owner: User;
  readonly token: string;
  /**
   * Writes the served document for one kind of caller: with the operations that take it, and with what is really there
   * in the place of ids, so that requests get further than to the answer that there is no such organization.
   */
  writeDocument(
    file: string,
    proof: 'apiKey' | 'session',
    which?: (operationId: string) => boolean,
  ): Promise<{ operations: number }>;
}

export async function openApiServer(): Promise<ApiServer> {
  // Limits would answer most of what is sent.
  const plenty = Object.fromEntries(
    ['READS', 'WRITES', 'STARTS', 'ANONYMOUS'].map((name) => [`RATE_${name}_PER_MINUTE`, '10000000']),
  );
  const gateway = {
    SANDBOX_GATEWAY_URL: 'http://127.0.0.1:9',
    SANDBOX_ACCESS_SECRET: 'test-sandbox-access-secret-test-sandbox',
  };
  const app = await ConversationApp.start({ env: { ...plenty, ...gateway } });
  const user = await app.user('Ada');
  const made = await app.http<{ id: string }>(user, 'POST', '/api/v1/orgs', { name: 'Acme' });
  if (made.status !== 201) throw new Error(`an organization could not be made: ${JSON.stringify(made.body)}`);
  const owner = { ...user, orgId: made.body.id };
  const { token } = await makeKey(app, owner, [...PERMISSIONS], {}, owner.orgId);
  const conversation = await app.conversation(owner);
  const real: Readonly<Record<string, string>> = { org: owner.orgId, conversation: conversation.id };
  return {
    app,
    owner,
    token,
    async writeDocument(file, proof, which = () => true) {
      const document = (await (await fetch(`${app.url}/api/v1/openapi.json`)).json()) as Document;
      let operations = 0;
      for (const [address, methods] of Object.entries(document.paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          const takes =
            operation.security === undefined
              ? proof === 'apiKey' || ENDING.has(operation.operationId)
              : operation.security.some((one) => proof in one) ||
                (operation.security.length === 0 && proof === 'session');
          if (!takes || !which(operation.operationId)) delete methods[method];
          else operations += 1;
          delete operation.security;
          for (const parameter of operation.parameters ?? []) {
            const value = parameter['in'] === 'path' ? real[String(parameter['name'])] : undefined;
            if (value !== undefined) Object.assign(parameter, { schema: { const: value }, example: value });
          }
        }
        // Of a path that is there, other methods are tried as well.
        if (Object.keys(methods).length === 0) delete document.paths[address];
      }
      // The caller's credential is in a header of every request; what happens without one is another test's.
      delete document.components.securitySchemes;
      await writeFile(file, JSON.stringify({ ...document, security: [] }));
      return { operations };
    },
  };
}
