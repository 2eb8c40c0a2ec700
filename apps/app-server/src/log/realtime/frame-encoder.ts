import { Encoder, type Packet, PacketType } from 'socket.io-parser';

/** A payload that is JSON already: the same text goes to every socket, and to none is it written twice. */
export class EncodedJson {
  constructor(readonly json: string) {}
}

/** socket.io's own encoding, but for payloads that are text already. */
export class FrameEncoder extends Encoder {
  override encode(packet: Packet): unknown[] {
    const data: unknown = packet.data;
    if (
      packet.type === PacketType.EVENT &&
      packet.id === undefined &&
      packet.nsp === '/' &&
      Array.isArray(data) &&
      data.length === 2 &&
      data[1] instanceof EncodedJson
    )
      return [`${PacketType.EVENT}[${JSON.stringify(data[0])},${data[1].json}]`];
    return super.encode(packet);
  }
}
