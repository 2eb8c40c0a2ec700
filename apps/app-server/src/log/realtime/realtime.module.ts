import { Module } from '@nestjs/common';
import { ConfirmationModule } from '../../conversations/confirmation/confirmation.module.js';
import { OrgRooms } from './org-rooms.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { Rooms } from './rooms.js';
import { SocketExit } from './socket-exit.js';
import { SocketHandshake } from './socket-handshake.js';
import { Subscriptions } from './subscriptions.js';

@Module({
  imports: [ConfirmationModule],
  providers: [RealtimeGateway, SocketHandshake, Subscriptions, Rooms, OrgRooms, SocketExit],
})
export class RealtimeModule {}
