/**
 * `/sockets/live/<channel>` of agent-server: a person's socket into the sandbox, with the proof of its other sockets. Text frames are the channel's JSON messages,
 * binary frames its bytes. The first frame that comes is this one: from then on the channel stands, and what is sent arrives.
 */
export const LIVE_OPEN = { type: 'live-open' } as const;
