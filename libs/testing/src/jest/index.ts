export { afterTest, fakeDate } from './cleanup.js';
export { describeUnless, itUnless, SkippedTest, skipTest } from './skip.js';
