// Plain JavaScript for any Node, so that it can say what is missing instead of failing on syntax.
if (Number.parseInt(process.versions.node, 10) < 24) throw new Error(`Jest runs under Node 24 here, and this is ${process.versions.node}: \`npx jest\` finds it.`);

export default (await import('./tools/test/jest-config.ts')).default;
