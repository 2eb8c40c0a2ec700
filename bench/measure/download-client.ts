// Downloads one address again and again on one connection: argv URL TIMES HEADERS(JSON). Prints the milliseconds of
// each, as JSON.
import { Pool } from 'undici';

const [url = '', times = '1', headers = '{}'] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: 1 });
const took: number[] = [];
for (let index = 0; index < Number(times); index += 1) {
  const began = performance.now();
  const response = await pool.request({
    path: pathname,
    method: 'GET',
    headers: JSON.parse(headers) as Record<string, string>,
  });
  let bytes = 0;
  for await (const part of response.body) bytes += (part as Buffer).length;
  if (response.statusCode !== 200 || bytes !== Number(response.headers['content-length']))
    throw new Error(`${url} answered ${response.statusCode}, ${bytes} bytes`);
  took.push(performance.now() - began);
}
process.stdout.write(JSON.stringify(took));
process.exit(0);
