// `helm test`: every service answers that it can work.
const failed = [];
for (const [name, url] of Object.entries(JSON.parse(process.env.SERVICES))) {
  const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(10_000) }).then(
    async (response) => (response.ok ? null : `${response.status} ${(await response.text()).slice(0, 300)}`),
    (error) => `${error.message} ${error.cause?.message ?? ''}`,
  );
  console.log(`${name}: ${answer ?? 'ready'}`);
  if (answer !== null) failed.push(name);
}
if (failed.length > 0) console.log(`Not ready: ${failed.join(', ')}. The log of its pods says why.`);
process.exit(failed.length > 0 ? 1 : 0);
