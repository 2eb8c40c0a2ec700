// The calls that services make, with the environment that the chart gives them: argv JSON {issuer, bucket, sandbox,
// service}. Prints of each what came of it, as JSON.
import { agentAt } from '../../apps/app-server/dist/conversations/reach-sandbox.js';
import { IssuerKeys } from '../../libs/auth/dist/issuer-keys.js';
import { openS3Store } from '../../libs/sandbox/dist/adapters/kubernetes/archive/s3-store.js';

const { issuer, bucket, sandbox, service } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const saying = async (call: () => Promise<unknown>): Promise<string> =>
  call().then(
    JSON.stringify,
    (error: Error) => `${(error.cause as { code?: string } | undefined)?.code ?? error.name}: ${error.message}`,
  );
const store = await openS3Store({
  bucket: 'workspaces',
  endpoint: bucket ?? '',
  region: 'x',
  pathStyle: true,
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
});
const said = {
  issuer: await saying(async () => (await new IssuerKeys(issuer ?? '').withKey('k')).keys.length),
  bucket: await saying(() => store.exists('0f0e0d0c-0b0a-4908-8706-050403020100', AbortSignal.timeout(10_000))),
  sandbox: await saying(() =>
    agentAt({ url: sandbox ?? '', sessionKey: 's' })
      .call('interrupt', { id: 'c' })
      .then(() => 'interrupted'),
  ),
  service: await saying(async () => (await fetch(service ?? '', { signal: AbortSignal.timeout(5_000) })).status),
};
process.stdout.write(JSON.stringify(said));
process.exit(0);
