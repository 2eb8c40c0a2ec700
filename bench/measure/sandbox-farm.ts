// Blank sandboxes that cost nothing: argv PORT PUBLIC_KEY. Each listens on a port of its own, keeps a real activation latch and verifies the real signature; no processes run in them.
import { SandboxFarm } from '@slipway/sandbox/testing';

const [port = '0', publicKey = ''] = process.argv.slice(2);
await new SandboxFarm(publicKey, true).start(Number(port));
