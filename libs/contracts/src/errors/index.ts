export { ERROR_CODES, ERRORS, type ErrorCode } from './error-codes.js';
export { Problem } from './problem.js';
