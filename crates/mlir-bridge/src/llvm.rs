//! Safe views of the few LLVM C API entry points that inkwell does not wrap.

use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;

use inkwell::context::{AsContextRef, Context};
use inkwell::module::Module;
use inkwell::values::{
    AsValueRef, FunctionValue, GlobalValue, InstructionOpcode, InstructionValue, IntValue, PointerValue,
};
use llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::{LLVMCreateMemoryBufferWithMemoryRange, LLVMReplaceAllUsesWith, LLVMTypeOf};
use llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt, LLVMDILocationGetLine,
    LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine, LLVMGetSubprogram, LLVMInstructionGetDebugLoc,
};
use llvm_sys::prelude::LLVMMetadataRef;

use crate::ffi;

/// The source file and line (from 1) of an instruction, if it carries a debug location.
pub fn source_location(instruction: InstructionValue<'_>) -> Option<(String, u32)> {
    source_frames(instruction).into_iter().next()
}

/// The source files and lines (from 1) of an instruction: its own first, then the calls it was inlined through.
pub fn source_frames(instruction: InstructionValue<'_>) -> Vec<(String, u32)> {
    let mut frames = Vec::new();
    // SAFETY: a live instruction has a debug location or null; a location has a scope, and a location or null as the
    // place that it was inlined at.
    unsafe {
        let mut location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
        while !location.is_null() {
            if let Some(file) = file_of(LLVMDILocationGetScope(location)) {
                frames.push((file, LLVMDILocationGetLine(location)));
            }
            location = LLVMDILocationGetInlinedAt(location);
        }
    }
    frames
}

/// The source file of a function that carries debug information.
pub fn source_file(function: FunctionValue<'_>) -> Option<String> {
    // SAFETY: a live function has a subprogram or null; a subprogram is a scope.
    unsafe {
        let program = LLVMGetSubprogram(function.as_value_ref());
        if program.is_null() { None } else { file_of(program) }
    }
}

/// The source file and line of a function that carries debug information.
pub fn definition(function: FunctionValue<'_>) -> Option<(String, u32)> {
    let file = source_file(function)?;
    // SAFETY: a live function, which has a subprogram, or it would have no file.
    Some((file, unsafe { LLVMDISubprogramGetLine(LLVMGetSubprogram(function.as_value_ref())) }))
}

/// The file of a debug scope, as the user names it: what clang wrote relative to another folder than the current one is said whole.
///
/// # Safety
/// `scope` is a live debug scope.
unsafe fn file_of(scope: LLVMMetadataRef) -> Option<String> {
    // SAFETY: the scope is live by contract; the names live as long as its context and are copied here.
    let (folder, file) = unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return None;
        }
        let text = |get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const c_char| {
            let mut length = 0;
            let start = get(file, &mut length).cast::<u8>();
            let bytes = if length == 0 { &[] } else { std::slice::from_raw_parts(start, length as usize) };
            PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
        };
        (text(LLVMDIFileGetDirectory), text(LLVMDIFileGetFilename))
    };
    let here = std::env::current_dir().is_ok_and(|current| current == folder);
    let path = if here || folder.as_os_str().is_empty() { file } else { folder.join(file) };
    Some(path.to_string_lossy().into_owned())
}

/// Makes every user of `old` use `new` (of the same pointer type) and removes `old`.
pub fn replace_global<'ctx>(old: GlobalValue<'ctx>, new: PointerValue<'ctx>) {
    assert_eq!(old.as_pointer_value().get_type(), new.get_type(), "expected a replacement of the same type");
    old.as_pointer_value().replace_all_uses_with(new);
    // SAFETY: nothing uses `old` any more; the caller's handle dies with this call.
    unsafe { old.delete() };
}

/// Makes every user of the function `old` use `new` (of the same pointer type) and removes `old`.
pub fn replace_function<'ctx>(old: FunctionValue<'ctx>, new: FunctionValue<'ctx>) {
    let from = old.as_global_value().as_pointer_value();
    let to = new.as_global_value().as_pointer_value();
    assert_eq!(from.get_type(), to.get_type(), "expected a replacement of the same type");
    from.replace_all_uses_with(to);
    // SAFETY: nothing uses `old` any more; the caller's handle dies with this call.
    unsafe { old.delete() };
}

/// Removes a global that only LLVM itself reads, by its name (`llvm.used` and the like).
pub fn remove_list(global: GlobalValue<'_>) {
    assert!(global.get_name().to_bytes().starts_with(b"llvm."), "expected one of LLVM's own lists");
    // SAFETY: such a list has no uses in the IR.
    unsafe { global.delete() };
}

/// Hides the aliases whose names begin with `prefix` from other objects.
pub fn hide_aliases(module: &Module<'_>, prefix: &str) {
    use llvm_sys::core::{LLVMGetFirstGlobalAlias, LLVMGetNextGlobalAlias, LLVMGetValueName2, LLVMSetLinkage};
    // SAFETY: a live module, whose aliases stay; a name is as long as the call says.
    unsafe {
        let mut alias = LLVMGetFirstGlobalAlias(module.as_mut_ptr());
        while !alias.is_null() {
            let mut length = 0;
            let name = LLVMGetValueName2(alias, &mut length);
            if std::slice::from_raw_parts(name.cast::<u8>(), length).starts_with(prefix.as_bytes()) {
                LLVMSetLinkage(alias, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
            }
            alias = LLVMGetNextGlobalAlias(alias);
        }
    }
}

/// Takes a function or variable out of its comdat.
pub fn clear_comdat(global: GlobalValue<'_>) {
    // SAFETY: `global` is a live global object; a null comdat means none.
    unsafe { LLVMSetComdat(global.as_value_ref(), std::ptr::null_mut()) };
}

/// Gives an atomic operation the synchronisation scope `scope`, of the names of its target.
pub fn set_sync_scope(operation: InstructionValue<'_>, scope: &str) {
    use InstructionOpcode::{AtomicCmpXchg, AtomicRMW, Fence, Load, Store};
    use llvm_sys::core::{LLVMGetSyncScopeID, LLVMGetValueContext, LLVMSetAtomicSyncScopeID};
    assert!(
        matches!(operation.get_opcode(), AtomicRMW | AtomicCmpXchg | Fence | Load | Store),
        "expected an atomic operation"
    );
    // SAFETY: a live instruction that has a scope; the name is read within the call.
    unsafe {
        let context = LLVMGetValueContext(operation.as_value_ref());
        let id = LLVMGetSyncScopeID(context, scope.as_ptr().cast(), scope.len());
        LLVMSetAtomicSyncScopeID(operation.as_value_ref(), id);
    }
}

/// A copy of a function definition in the same module, named `name`, outside of any comdat.
pub fn clone_function<'ctx>(function: FunctionValue<'ctx>, name: &str) -> FunctionValue<'ctx> {
    assert!(function.get_first_basic_block().is_some(), "expected a definition to clone");
    // SAFETY: a live function definition; the copy is a function of the same module.
    let copy = unsafe { FunctionValue::new(ffi::regrainCloneFunction(function.as_value_ref())) }.expect("a function");
    copy.as_global_value().set_name(name);
    clear_comdat(copy.as_global_value());
    copy
}

/// Leaves line tables of a module's debug information, for a debugger or profiler of the host.
pub fn keep_line_tables(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainKeepLineTables(module.as_mut_ptr()) }
}

/// Leaves all debug information of a module that is not optimised, with CUDA's `threadIdx` and the like as variables of each function.
pub fn keep_variables(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainKeepVariables(module.as_mut_ptr()) }
}

/// Gives a variable what is said for debuggers of the one that it takes the place of.
pub fn copy_variable_info(to: GlobalValue<'_>, from: GlobalValue<'_>) {
    // SAFETY: live global variables of one context.
    unsafe { ffi::regrainCopyVariableInfo(to.as_value_ref(), from.as_value_ref()) }
}

/// Makes a module fit any width of `wchar_t`: what a module says of it must be the same in all that are linked.
pub fn forget_wide_characters(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainForgetWideCharacters(module.as_mut_ptr()) }
}

/// A module with function `name` of a module in `bitcode`, the functions that it reaches and all variables; as bitcode.
/// Bodies of other functions are not even read.
pub fn extract_kernel(bitcode: &[u8], name: &str) -> Result<Vec<u8>, String> {
    ffi::attempt(|sink, user| {
        // SAFETY: bytes and name are read during the call; the sink gets its own.
        unsafe { ffi::regrainExtractKernel(ffi::bytes(bitcode), ffi::string(name), sink, user) }
    })
}

/// Divides a module among parts that can be compiled beside one another, `most` at most, of some `least` instructions each; what they have of
/// one another become hidden symbols with `unit` in their names. Gives how many parts there are; where it is one, nothing was done.
pub fn mark_parts(module: &Module<'_>, unit: &str, least: u64, most: u32) -> u32 {
    // SAFETY: a live module; the name is read during the call.
    unsafe { ffi::regrainMarkParts(module.as_mut_ptr(), ffi::string(unit), least, most) }
}

/// A part of a divided module as `bitcode`.
///
/// # Errors
/// It is none, in LLVM's words.
pub fn read_part<'ctx>(context: &'ctx Context, bitcode: &[u8], part: u32) -> Result<Module<'ctx>, String> {
    let mut module = std::ptr::null_mut();
    let made = ffi::attempt(|sink, user| {
        // SAFETY: a live context, of which the module is one that is ours alone; bytes are read during the call; the sink gets its own.
        module = unsafe { ffi::regrainReadPart(context.as_ctx_ref(), ffi::bytes(bitcode), part, sink, user) };
        !module.is_null()
    });
    // SAFETY: as above.
    made.map(|_| unsafe { Module::new(module) })
}

/// A module of `context` in `bitcode`, of which bodies of functions are read when somebody wants them: what is linked from it into another
/// module costs what is taken alone.
pub fn read_lazily<'ctx>(context: &'ctx Context, bitcode: &'static [u8], name: &str) -> Result<Module<'ctx>, String> {
    let name = CString::new(name).map_err(|error| error.to_string())?;
    let mut module = std::ptr::null_mut();
    // SAFETY: the bytes live as long as the process, so the buffer may lend them; it belongs to the module, which is ours alone.
    unsafe {
        let (start, length) = (bitcode.as_ptr().cast::<c_char>(), bitcode.len());
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(start, length, name.as_ptr(), 0);
        if LLVMGetBitcodeModuleInContext2(context.as_ctx_ref(), buffer, &raw mut module) != 0 {
            return Err("no bitcode".into());
        }
        Ok(Module::new(module))
    }
}

/// Makes every user of the integer that `instruction` computes use `value`, and removes it.
pub fn replace_by_constant<'ctx>(instruction: InstructionValue<'ctx>, value: IntValue<'ctx>) {
    // SAFETY: both are live integers; types are compared before.
    unsafe {
        let from = instruction.as_value_ref();
        assert_eq!(LLVMTypeOf(from), LLVMTypeOf(value.as_value_ref()), "expected a constant of the same type");
        LLVMReplaceAllUsesWith(from, value.as_value_ref());
    }
    instruction.erase_from_basic_block();
}

/// The callee of a call when it is known, else `None` (a call through a pointer, or inline assembly).
pub fn callee<'ctx>(call: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    if !matches!(call.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke) {
        return None;
    }
    // SAFETY: calls and invokes have a called value; `new` gives `None` when it is not a function.
    unsafe { FunctionValue::new(llvm_sys::core::LLVMGetCalledValue(call.as_value_ref())) }
}

/// Whether a call's target is inline assembly.
pub fn calls_inline_asm(call: InstructionValue<'_>) -> bool {
    // SAFETY: the callee of a call instruction is its last operand, which always exists.
    unsafe {
        let target = llvm_sys::core::LLVMGetCalledValue(call.as_value_ref());
        !llvm_sys::core::LLVMIsAInlineAsm(target).is_null()
    }
}

/// Whether the address of `function` is used other than as the target of a call.
pub fn is_address_taken(function: FunctionValue<'_>) -> bool {
    let value = function.as_value_ref();
    // SAFETY: walks the use list of a live function; users of a function are live values.
    unsafe {
        let mut each = llvm_sys::core::LLVMGetFirstUse(value);
        while !each.is_null() {
            let user = llvm_sys::core::LLVMGetUser(each);
            let call =
                !llvm_sys::core::LLVMIsACallInst(user).is_null() || !llvm_sys::core::LLVMIsAInvokeInst(user).is_null();
            if !call || llvm_sys::core::LLVMGetCalledValue(user) != value {
                return true;
            }
            each = llvm_sys::core::LLVMGetNextUse(each);
        }
    }
    false
}

/// The text and the constraints of the inline assembly that a call runs, if it does.
pub fn inline_asm(call: InstructionValue<'_>) -> Option<(String, String)> {
    use llvm_sys::core::{LLVMGetCalledValue, LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString};
    if !calls_inline_asm(call) {
        return None;
    }
    let copied = |text: *const std::ffi::c_char, length: usize| {
        if length == 0 {
            return String::new();
        }
        // SAFETY: LLVM gives a pointer to `length` bytes that live as long as the context.
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
        String::from_utf8_lossy(bytes).into_owned()
    };
    // SAFETY: the called value of this call is inline assembly (checked above).
    unsafe {
        let asm = LLVMGetCalledValue(call.as_value_ref());
        let mut length = 0;
        let text = LLVMGetInlineAsmAsmString(asm, &mut length);
        let text = copied(text, length);
        let constraints = LLVMGetInlineAsmConstraintString(asm, &mut length);
        Some((text, copied(constraints, length)))
    }
}

/// Removes a function that nothing refers to; another stays.
pub fn remove_unused(function: FunctionValue<'_>) {
    // SAFETY: a live function, which nothing refers to where it goes.
    unsafe {
        if llvm_sys::core::LLVMGetFirstUse(function.as_value_ref()).is_null() {
            function.delete();
        }
    }
}

/// Inlines `call`, a call or an invoke of a function with a body; whether that could be done. Where it was, the call is gone.
pub fn inline_call(call: InstructionValue<'_>) -> bool {
    assert!(
        matches!(call.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke),
        "expected a call, got {:?}",
        call.get_opcode()
    );
    // SAFETY: a live call of a live module.
    unsafe { ffi::regrainInlineCall(call.as_value_ref()) }
}

/// Makes `call`, a call or an invoke, call `function`, which must have the type that the call already uses. An invoke keeps
/// its ways out.
pub fn set_callee<'ctx>(call: InstructionValue<'ctx>, function: FunctionValue<'ctx>) {
    use llvm_sys::core::{LLVMGetCalledFunctionType, LLVMGetNumOperands, LLVMGlobalGetValueType, LLVMSetOperand};
    assert!(
        matches!(call.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke),
        "expected a call, got {:?}",
        call.get_opcode()
    );
    // SAFETY: both are live; the callee is the last operand of calls and invokes, and types are compared before.
    unsafe {
        let old = LLVMGetCalledFunctionType(call.as_value_ref());
        assert_eq!(
            old,
            LLVMGlobalGetValueType(function.as_value_ref()),
            "expected a function of the call's type, got {}",
            function.get_type()
        );
        let last = LLVMGetNumOperands(call.as_value_ref()) - 1;
        LLVMSetOperand(call.as_value_ref(), last as u32, function.as_value_ref());
    }
}

/// Sets the priority of a constructor in `llvm.global_ctors`: a smaller one runs earlier, 65535 is that of C++'s own objects.
pub fn set_constructor_priority(module: &Module<'_>, constructor: FunctionValue<'_>, priority: u32) {
    use llvm_sys::prelude::LLVMValueRef;

    use llvm_sys::core::{
        LLVMConstArray2, LLVMConstInt, LLVMConstStructInContext, LLVMGetAggregateElement, LLVMGetArrayLength2,
        LLVMGetInitializer, LLVMGetModuleContext, LLVMSetInitializer,
    };
    let Some(list) = module.get_global("llvm.global_ctors") else { return };
    // SAFETY: a list that LLVM knows is an array of structs { i32 priority, ptr function, ptr data } with an initialiser; all
    // values are live constants of the module's context.
    unsafe {
        let old = LLVMGetInitializer(list.as_value_ref());
        if old.is_null() {
            return;
        }
        let count = LLVMGetArrayLength2(LLVMTypeOf(old));
        let mut entries: Vec<LLVMValueRef> =
            (0..count).map(|index| LLVMGetAggregateElement(old, index as u32)).collect();
        for entry in &mut entries {
            let mut fields: [LLVMValueRef; 3] = [0, 1, 2].map(|field| LLVMGetAggregateElement(*entry, field));
            if fields[1] == constructor.as_value_ref() {
                fields[0] = LLVMConstInt(LLVMTypeOf(fields[0]), priority.into(), 0);
                *entry = LLVMConstStructInContext(LLVMGetModuleContext(module.as_mut_ptr()), fields.as_mut_ptr(), 3, 0);
            }
        }
        if let Some(first) = entries.first().copied() {
            LLVMSetInitializer(list.as_value_ref(), LLVMConstArray2(LLVMTypeOf(first), entries.as_mut_ptr(), count));
        }
    }
}

/// Keeps a variable that nothing refers to, through optimisation and through a linker that drops unused sections (`llvm.used`).
pub fn keep_in_object(module: &Module<'_>, global: GlobalValue<'_>) {
    use llvm_sys::LLVMLinkage;
    use llvm_sys::core::{
        LLVMAddGlobal, LLVMArrayType2, LLVMConstArray2, LLVMDeleteGlobal, LLVMGetAggregateElement, LLVMGetArrayLength2,
        LLVMGetInitializer, LLVMSetInitializer, LLVMSetLinkage, LLVMSetSection,
    };
    let old = module.get_global("llvm.used");
    // SAFETY: a list that LLVM knows is an array of pointers with an initialiser and without uses in the IR; all values are live
    // constants of the module's context.
    unsafe {
        let mut entries = Vec::new();
        if let Some(old) = old {
            let list = LLVMGetInitializer(old.as_value_ref());
            let count = if list.is_null() { 0 } else { LLVMGetArrayLength2(LLVMTypeOf(list)) };
            entries.extend((0..count).map(|index| LLVMGetAggregateElement(list, index as u32)));
            LLVMDeleteGlobal(old.as_value_ref());
        }
        entries.push(global.as_pointer_value().as_value_ref());
        let (pointer, count) = (LLVMTypeOf(global.as_value_ref()), entries.len() as u64);
        let list = LLVMAddGlobal(module.as_mut_ptr(), LLVMArrayType2(pointer, count), c"llvm.used".as_ptr());
        LLVMSetInitializer(list, LLVMConstArray2(pointer, entries.as_mut_ptr(), count));
        LLVMSetLinkage(list, LLVMLinkage::LLVMAppendingLinkage);
        LLVMSetSection(list, c"llvm.metadata".as_ptr());
    }
}

/// Takes the permission to contract `a * b + c` to one rounding from all operations of `function`.
pub fn forbid_contraction(function: FunctionValue<'_>) {
    // SAFETY: the function is live.
    unsafe { ffi::regrainForbidContraction(function.as_value_ref()) }
}

/// Contracts each product and the sum that it is part of, of one expression, to `llvm.fmuladd`: in clang's IR, before it is optimised. A
/// processor that has it rounds once then, in all forms of a kernel.
pub fn contract_expressions(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainContractExpressions(module.as_mut_ptr()) }
}

/// Conversions of floating-point numbers to integers of less than 32 bits go through 32 bits, as nvcc makes them: what does not fit loses its
/// upper bits, in lanes as in a single thread, and what is negative is 0 without a sign. Left alone, LLVM's instructions for lanes and those of
/// PTX for 16 bits would stop at the limits, those of a processor for one number not. `saturates` says that conversions to 32 bits without a
/// sign make 0 of what is negative on the chip that runs the code.
pub fn widen_conversions(module: &Module<'_>, saturates: bool) {
    // SAFETY: a live module.
    unsafe { ffi::regrainWidenConversions(module.as_mut_ptr(), saturates) }
}

/// Unsigned indices into a block's shared memory that are computed by subtraction wrap as they do on a chip, which addresses that memory with 32
/// bits: `p[~i]` is in front of `p`. In clang's IR, before it is optimised.
pub fn wrap_shared_indices(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainWrapSharedIndices(module.as_mut_ptr()) }
}

/// Makes functions of the device library that are given addresses by the program's code part of it, so that a checker sees what they access.
pub fn inline_for_checks(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainInlineForChecks(module.as_mut_ptr()) }
}

/// Lets the code of translation unit `unit` tell a checker what is checked (`kinds`), what variables it has and, if `accesses`, of each
/// access of memory. A place in a file whose path has one of `headers` is that of the caller.
pub fn insert_checks(module: &Module<'_>, unit: &str, headers: &[String], kinds: u32, accesses: bool) {
    let headers = headers.join("\n");
    // SAFETY: a live module; the names are lent for the call.
    unsafe {
        ffi::regrainInsertChecks(module.as_mut_ptr(), ffi::string(unit), ffi::string(&headers), kinds, accesses);
    }
}

/// Makes loads and stores of the atomic operations of a module that say (scope `singlethread`) that no other thread sees them.
pub fn lower_single_thread_atomics(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainLowerSingleThreadAtomics(module.as_mut_ptr()) }
}

/// Makes a device module one that a program loads while it runs: what it wants of the runtime stands in a table beside
/// its image, the global
/// named `image`.
pub fn take_from_program(module: &Module<'_>, image: &str) {
    // SAFETY: a live module; the name is lent for the call.
    unsafe { ffi::regrainTakeFromProgram(module.as_mut_ptr(), ffi::string(image)) }
}

/// Leaves a declaration of a function.
pub fn forget_body(function: FunctionValue<'_>) {
    // SAFETY: the function is live.
    unsafe { ffi::regrainForgetBody(function.as_value_ref()) }
}

/// Makes constants of the integer arguments of calls of `callee` that branches before the call know, as of `n` and `8 * n` behind `n == 4`.
pub fn know_arguments(module: &Module<'_>, callee: &str) {
    // SAFETY: a live module; the name is lent for the call.
    unsafe { ffi::regrainKnowArguments(module.as_mut_ptr(), ffi::string(callee)) }
}

/// Where the managed variables of a module are declared, `FILE:LINE`: those annotated by `mark`.
pub fn managed_variables(module: &Module<'_>, mark: &CStr) -> Vec<String> {
    // SAFETY: a live module and a C string; the sink gets its own.
    let found =
        ffi::attempt(|sink, user| unsafe { ffi::regrainFindManaged(module.as_mut_ptr(), mark.as_ptr(), sink, user) });
    String::from_utf8_lossy(&found.unwrap_or_default()).lines().map(str::to_owned).collect()
}

/// Puts the managed variables of device code, those annotated by `mark`, into a section, which is kept; annotations go.
pub fn place_managed(module: &Module<'_>, mark: &CStr, section: &CStr) {
    // SAFETY: as in `managed_variables`.
    unsafe { ffi::regrainPlaceManaged(module.as_mut_ptr(), mark.as_ptr(), section.as_ptr()) }
}

/// Lets the host's code reach the managed variables, those annotated by `mark`, by pointers that the runtime sets.
///
/// # Errors
/// The address of one stands in a constant: `FILE:LINE` of that variable.
pub fn managed_shadows(module: &Module<'_>, mark: &CStr) -> Result<(), String> {
    // SAFETY: as in `managed_variables`.
    ffi::attempt(|sink, user| unsafe { ffi::regrainManagedShadows(module.as_mut_ptr(), mark.as_ptr(), sink, user) })
        .map(drop)
}

/// Unrolls the loops that count up the addresses in arrays of a function, where that makes all of them constant and takes at most `limit`
/// instructions; none with a call whose name begins with, or whose assembly contains, one of `barriers`. Whether any was.
pub fn unroll_arrays(module: &Module<'_>, barriers: &[&str], limit: u64) -> bool {
    let barriers: Vec<_> = barriers.iter().map(|text| ffi::string(text)).collect();
    // SAFETY: a live module; the texts outlive the call.
    unsafe { ffi::regrainUnrollArrays(module.as_mut_ptr(), barriers.as_ptr(), barriers.len(), limit) }
}

/// Makes what is done with pointers of address space `space`, which have 32 bits and the null pointer -1, right for the layout of a
/// host with pointers of 64 bits. `near` is a variable within 2 GiB of all memory of the space; without one that is the stack.
///
/// # Errors
/// What has no counterpart: such pointers in aggregates and vectors.
pub fn widen_pointers(module: &Module<'_>, space: u16, near: Option<GlobalValue<'_>>) -> Result<(), String> {
    let near = near.map_or(std::ptr::null_mut(), |near| near.as_value_ref());
    ffi::attempt(|sink, user| {
        // SAFETY: module and variable are alive for the call; the sink gets its own.
        unsafe { ffi::regrainWidenPointers(module.as_mut_ptr(), space.into(), near, sink, user) }
    })
    .map(drop)
}

/// The instructions that use `global`, also through constants and other globals that hold an address.
pub fn users<'ctx>(global: GlobalValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    use llvm_sys::core::{LLVMGetFirstUse, LLVMGetNextUse, LLVMGetUser, LLVMIsAInstruction};
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut work = vec![global.as_value_ref()];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        // SAFETY: walks the use lists of live values; a user is a live instruction or constant.
        unsafe {
            let mut each = LLVMGetFirstUse(value);
            while !each.is_null() {
                let user = LLVMGetUser(each);
                if LLVMIsAInstruction(user).is_null() {
                    work.push(user);
                } else {
                    found.push(InstructionValue::new(user));
                }
                each = LLVMGetNextUse(each);
            }
        }
    }
    found
}

/// The function that an instruction stands in.
pub fn function_of<'ctx>(instruction: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    instruction.get_parent()?.get_parent()
}

/// The names of the functions from which `global` can be reached: those that use it, their callers, and so on, also
/// through constants and other globals that hold an address.
pub fn functions_reaching(global: GlobalValue<'_>) -> HashSet<String> {
    let (mut names, mut work) = (HashSet::new(), vec![global]);
    while let Some(reached) = work.pop() {
        for function in users(reached).into_iter().filter_map(function_of) {
            if names.insert(function.get_name().to_string_lossy().into_owned()) {
                work.push(function.as_global_value());
            }
        }
    }
    names
}
