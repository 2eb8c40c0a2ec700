// Blank sandboxes that cost nothing: argv PORT PUBLIC_KEY [one-address]. Each listens on a port of its own by default,
// keeps a real activation latch and verifies the real signature; no processes run in them.
import { SandboxFarm } from '@slipway/sandbox/testing';

const [port = '0', publicKey = '', where] = process.argv.slice(2);
await new SandboxFarm(publicKey, where !== 'one-address').start(Number(port));
