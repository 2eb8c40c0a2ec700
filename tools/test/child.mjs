// The process of one test file. Plain JavaScript: the cache is on before the first type is stripped.
import { enableCompileCache, registerHooks } from 'node:module';

const order = JSON.parse(process.argv[2]);
process.argv.splice(1, 2, order.file);
enableCompileCache(order.cache);
process.setSourceMapsEnabled(true);
const globals = new URL('globals.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
});
const { runFile } = await import('./child.ts');
await runFile(order);
