export { ProblemFilter } from './problem.filter.js';
