// One replica of a strategy, forked: argv JSON of what it needs. Takes claims as lines `ID` on a loopback port that it
// reports to its parent, answers `ID SLOT`, or `ID -` when it gave up.
import { createServer } from 'node:net';
import { createPool } from '@slipway/db/sql';
import { RACERS } from './all.ts';

const given = JSON.parse(process.argv[2] ?? '{}') as {
  strategy: string;
  databaseUrl: string;
  connections: number;
  replica: number;
  replicas: number;
  redisPort: number | null;
  kubeconfig: string | null;
};
const db = createPool({
  url: given.databaseUrl,
  max: given.connections,
  applicationName: `race-${given.replica}`,
  onError: () => {},
});
const racer = RACERS[given.strategy];
if (racer === undefined) throw new Error(`there is no strategy ${given.strategy}`);
const strategy = await racer.make({ db, ...given });

const server = createServer((socket) => {
  socket.setNoDelay(true);
  let rest = '';
  socket.on('data', (part) => {
    const lines = (rest + part.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const id of lines)
      strategy.claim(id).then(
        (slot) => socket.write(`${id} ${slot}\n`),
        (error: unknown) => {
          console.error(error);
          socket.write(`${id} -\n`);
        },
      );
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit(0));
