export { type Recap, type RecapFact, recapOf } from './recap.js';
export { runsTests, type TestResult, testResult } from './test-result.js';
