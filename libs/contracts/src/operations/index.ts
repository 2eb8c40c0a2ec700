export {
  type OperationBody,
  type OperationName,
  type OperationQuery,
  type OperationResponse,
  operations,
} from './list.js';
export { COMMON_ERRORS, type LimitClass, limitOf, type Operation, proofOf } from './operation.js';
