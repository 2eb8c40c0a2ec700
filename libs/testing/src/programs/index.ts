export { type GoModule, goModule } from './go-module.js';
export { type NpmProgram, npmProgram } from './npm-program.js';
export { type PythonEnvironment, pythonEnvironment } from './python-environment.js';
export { type Run, run } from './run.js';
