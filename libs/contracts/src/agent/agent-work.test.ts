import { describe, expect, it } from '@jest/globals';
import { steersBySocket, steersSandbox } from './agent-work.js';

describe('steering an agent by its sandbox', () => {
  it('is whatever changes something at the editor and at programs of the sandbox', () => {
    for (const port of [12000, 60001, 3000])
      expect([
        steersSandbox('POST', port, '/api/conversations/x/events'),
        steersSandbox('PUT', port, '/'),
        steersBySocket(port, '/sockets/events/x'),
      ]).toEqual([true, true, true]);
  });

  it('is no read, and at agent-server nothing that the log of a conversation names an author of', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect([steersSandbox(method, 8000, '/'), steersSandbox(method, 12000, '/')]).toEqual([false, false]);
    for (const path of [
      'events',
      'events/',
      'events?x=1',
      'run',
      'pause',
      'interrupt',
      'events/respond_to_confirmation',
    ])
      expect({ path, steers: steersSandbox('POST', 8000, `/api/conversations/x/${path}`) }).toEqual({
        path,
        steers: false,
      });
    for (const path of [
      '/api/conversations',
      '/api/conversations/x/fork',
      '/api/conversations/x/events/y',
      '/api/file/upload/x',
      '/api/conversations/x/y/events',
    ])
      expect({ path, steers: steersSandbox('POST', 8000, path) }).toEqual({ path, steers: true });
    expect([
      steersBySocket(8000, '/sockets/events/x?resend_all=true'),
      steersBySocket(8000, '/sockets/live/terminal'),
    ]).toEqual([false, true]);
  });
});
