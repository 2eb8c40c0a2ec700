import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationSpending } from '@slipway/contracts/models';
import type { Config } from '../../config.js';
import { ConversationApp } from '../../testing/conversation-app.js';
import { ConversationSpendingService } from './conversation-spending.js';

describe('the limit of a conversation on its way to the gateway', () => {
  let app: ConversationApp;
  let gateway: Server;
  const heard: ConversationSpending[] = [];
  let meanwhile = async (): Promise<void> => {};
  beforeAll(async () => {
    app = await ConversationApp.start();
    gateway = createServer(async (request, response) => {
      await meanwhile();
      heard.push((await json(request)) as ConversationSpending);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
  });
  afterAll(async () => {
    gateway?.close();
    await app?.close();
  });

  it('leaves no older author to pay when a hostile one changes the limit as their message is delivered', async () => {
    const ada = await app.user('Ada');
    const { id } = await app.conversation(ada);
    let first = true;
    meanwhile = async () => {
      if (!first) return;
      first = false;
      await app.owner.query(
        "INSERT INTO app.conversation_spender (conversation_id, org_id, user_id, user_label) VALUES ($1, $2, 'usr_bob', 'Bob')",
        [id, ada.orgId],
      );
    };
    const config = {
      LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
      LLM_GATEWAY_MASTER_KEY: 'master',
    } as Config;
    await new ConversationSpendingService(app.pool, config).apply(ada.orgId, id);
    expect(heard.map(({ user }) => user)).toEqual([ada.userId, 'usr_bob']);
  });
});
