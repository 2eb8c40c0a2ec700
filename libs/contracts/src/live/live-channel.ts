/**
 * `/sockets/live/<channel>` of agent-server: a user's socket into the sandbox, authenticated like its other sockets.
 * Text frames are the channel's JSON messages, binary frames its bytes. The first frame that comes is this one: from
 * then on the channel is open.
 */
export const LIVE_OPEN = { type: 'live-open' } as const;
