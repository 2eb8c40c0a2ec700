import { type BeforeApplicationShutdown, UseFilters } from '@nestjs/common';
import {
  Ack,
  ConnectedSocket,
  MessageBody,
  type OnGatewayConnection,
  type OnGatewayDisconnect,
  type OnGatewayInit,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import {
  Confirm,
  type ConfirmAnswer,
  SOCKET_PING_MS,
  Subscribe,
  type SubscribeAnswer,
  SubscribeOrg,
  type SubscribeOrgAnswer,
  Unsubscribe,
  UnsubscribeOrg,
} from '@slipway/contracts/events';
import type { Server, Socket } from 'socket.io';
import { ConfirmationService } from '../../conversations/confirmation/confirmation.service.js';
import { AuthenticatesItself } from '../../http/serves.js';
import { backlogOf } from './backlog.js';
import { Receives } from './messages/receives.js';
import { RefusalFilter } from './messages/refusal.filter.js';
import { type Acknowledge, type Sender, SentBy } from './messages/socket-message.js';
import { OrgRooms } from './org-rooms.js';
import { SocketExit } from './socket-exit.js';
import { SocketHandshake } from './socket-handshake.js';
import { Subscriptions } from './subscriptions.js';

/** Largest frame that a client may send. Bytes; ours are a few hundred. */
const MAX_CLIENT_FRAME_BYTES = 16 * 1024;

/** The socket.io protocol of `libs/contracts/src/realtime.ts`. */
@WebSocketGateway({
  path: '/socket.io',
  serveClient: false,
  pingInterval: SOCKET_PING_MS,
  maxHttpBufferSize: MAX_CLIENT_FRAME_BYTES,
})
@UseFilters(RefusalFilter)
export class RealtimeGateway
  implements OnGatewayInit<Server>, OnGatewayConnection<Socket>, OnGatewayDisconnect<Socket>, BeforeApplicationShutdown
{
  private server: Server | undefined;

  constructor(
    private readonly handshake: SocketHandshake,
    private readonly subscriptions: Subscriptions,
    private readonly orgs: OrgRooms,
    private readonly confirmations: ConfirmationService,
    private readonly exit: SocketExit,
  ) {}

  afterInit(server: Server): void {
    this.server = server;
    server.use(this.handshake.middleware);
    this.exit.measure(server, () => this.unsentBytes());
  }

  handleConnection(socket: Socket): void {
    this.subscriptions.open(socket);
    this.orgs.open(socket);
  }

  handleDisconnect(socket: Socket): void {
    this.subscriptions.close(socket);
    this.orgs.close(socket);
  }

  /** Acknowledges before the first frame, and so by itself. */
  @SubscribeMessage('subscribe')
  @Receives({ body: Subscribe, permission: 'conversation:read' })
  async subscribe(
    @ConnectedSocket() socket: Socket,
    @MessageBody('body') asked: Subscribe,
    @SentBy() sender: Sender,
    @Ack() acknowledge: Acknowledge<SubscribeAnswer>,
  ): Promise<void> {
    await this.subscriptions.subscribe(socket, asked, sender, acknowledge);
  }

  /** Is never acknowledged. */
  @SubscribeMessage('unsubscribe')
  @AuthenticatesItself('ends nothing but what its own socket has opened')
  unsubscribe(@ConnectedSocket() socket: Socket, @MessageBody('body') body: unknown): void {
    const parsed = Unsubscribe.safeParse(body);
    if (parsed.success) this.subscriptions.end(socket, parsed.data.conversationId.toLowerCase());
  }

  /** Acknowledges before the first frame, as `subscribe` does. */
  @SubscribeMessage('subscribe_org')
  @Receives({ body: SubscribeOrg, permission: 'conversation:read' })
  subscribeOrg(
    @ConnectedSocket() socket: Socket,
    @SentBy() sender: Sender,
    @Ack() acknowledge: Acknowledge<SubscribeOrgAnswer>,
  ): void {
    this.orgs.subscribe(socket, sender, acknowledge);
  }

  /** Is never acknowledged. */
  @SubscribeMessage('unsubscribe_org')
  @AuthenticatesItself('ends nothing but what its own socket has opened')
  unsubscribeOrg(@ConnectedSocket() socket: Socket, @MessageBody('body') body: unknown): void {
    const parsed = UnsubscribeOrg.safeParse(body);
    if (parsed.success) this.orgs.end(socket, parsed.data.orgId);
  }

  /** A user's answer to pending actions; the same rules as for a request. */
  @SubscribeMessage('confirm')
  @Receives({ body: Confirm, permission: 'conversation:write' })
  async confirm(
    @MessageBody('body') { orgId: _, conversationId, ...answer }: Confirm,
    @SentBy() { principal }: Sender,
  ): Promise<ConfirmAnswer> {
    await this.confirmations.answer(principal, conversationId.toLowerCase(), answer);
    return { ok: true };
  }

  /** Bytes that wait in this process for sockets that do not take them. */
  unsentBytes(): number {
    let bytes = 0;
    for (const socket of this.server?.sockets.sockets.values() ?? []) bytes += backlogOf(socket).bytes;
    return bytes;
  }

  /** Sends the sockets to other replicas, within `overMs`. Milliseconds. */
  async drain(overMs: number): Promise<void> {
    if (this.server !== undefined) await this.exit.drain(this.server, overMs);
  }

  /** The adapter ends the connections when the hooks have run. */
  beforeApplicationShutdown(): void {
    if (this.server !== undefined) this.exit.now(this.server);
  }
}
