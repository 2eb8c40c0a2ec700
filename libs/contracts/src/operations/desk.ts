import { Desk, DeskMark, DeskQuery, PutReadMark, ReadMark, SetDeskMark } from '../conversations/desk.js';
import type { Operation } from './operation.js';

const ORG = '/api/v1/orgs/{org}';
const CONVERSATION = `${ORG}/conversations/{conversation}`;
const UNSAFE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

export const deskOperations = {
  getDesk: {
    id: 'desk.get',
    method: 'GET',
    path: `${ORG}/desk`,
    summary: 'What waits for a decision, what is finished and was not looked at, and what works, for the caller',
    permission: 'conversation:read',
    status: 200,
    query: DeskQuery,
    response: Desk,
    idempotency: 'idempotent',
    errors: [],
  },
  putReadMark: {
    id: 'conversations.read-mark.put',
    method: 'PUT',
    path: `${CONVERSATION}/read-mark`,
    summary: 'Say how far the caller has looked into a conversation; the mark never goes back',
    permission: 'conversation:read',
    status: 200,
    body: PutReadMark,
    response: ReadMark,
    idempotency: 'idempotent',
    errors: UNSAFE,
  },
  setDeskMark: {
    id: 'conversations.desk-mark.set',
    method: 'PATCH',
    path: `${CONVERSATION}/desk-mark`,
    summary: "Take a conversation off the caller's own Desk: done for now, until a time, or for good",
    permission: 'conversation:read',
    status: 200,
    body: SetDeskMark,
    response: DeskMark,
    idempotency: 'idempotent',
    errors: UNSAFE,
  },
} as const satisfies Record<string, Operation>;
