// What `@prisma/client-generator-ts` uses of `@prisma/internals` (docs/decisions/0051-prisma-for-the-user-store.md).
const { posix, sep } = require('node:path');
const { externalToInternalDmmf, getInternalDMMF } = require('@prisma/get-dmmf');

module.exports = {
  externalToInternalDmmf,
  getInternalDMMF,
  assertNever(_value, message) {
    throw new Error(message);
  },
  hasOwnProperty: (object, key) => Object.hasOwn(object, key),
  isValidJsIdentifier: (text) => /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(text),
  parseEnvValue: ({ value }) => value,
  pathToPosix: (file) => file.split(sep).join(posix.sep),
  setClassName: (named, name) => Object.defineProperty(named, 'name', { value: name, configurable: true }),
};
