/** First tasks that make sense in any repository and are over soon. */
export const EXAMPLES = [
  { label: 'home.explainThisRepository', prompt: 'home.readThisRepositoryAndWrite' },
  { label: 'home.addAMissingTest', prompt: 'home.findAFunctionThatHas' },
  { label: 'home.fixTheBuild', prompt: 'home.runTheBuildAndThe' },
] as const;
