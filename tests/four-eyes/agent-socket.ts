import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';

/** Sends a frame to the agent's socket of events. @returns whether it was handled. */
export async function overSocket(url: string, frame: object, headers: Record<string, string>): Promise<boolean> {
  const socket = new WebSocket(url, { headers });
  const marker = randomUUID();
  try {
    return await new Promise<boolean>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => resolve(false));
      // A frame that is refused at once shows that the one before it was handled: frames are taken in order.
      socket.on('message', (data: Buffer) => {
        const said = JSON.parse(data.toString()) as { kind?: string; code?: string; key?: string };
        if (said.key === 'full_state') socket.send(JSON.stringify(frame));
        if (said.key === 'full_state') socket.send(JSON.stringify({ role: marker }));
        if (said.kind === 'ConversationErrorEvent') resolve(said.code === 'request.invalid');
      });
    });
  } catch {
    return false;
  } finally {
    socket.terminate();
  }
}
