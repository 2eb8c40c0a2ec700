export { type OpenApi, openApi } from './document.js';
export { errorsOf } from './problems.js';
