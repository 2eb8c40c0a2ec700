/** First tasks that make sense in any repository and are over soon. */
export const EXAMPLES = [
  { label: 'Explain this repository', prompt: 'Read this repository and write a short ARCHITECTURE.md: what it does, its main parts, and how to run it.' },
  { label: 'Add a missing test', prompt: 'Find a function that has no test, write one in the style of the tests that are already here, and run it.' },
  { label: 'Fix the build', prompt: 'Run the build and the tests. If something fails, find the cause and fix it with the smallest change that is right.' },
] as const;
