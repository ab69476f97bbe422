// What the functions of the C interface have in common: the object behind a handle is found, a new one gets a
// handle, a result goes where the caller wants it.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/capi/launch/handle.h"
#include "runtime/capi/launch/status.h"

namespace rondo::capi {

// Runs `body`, which returns a Status, with the object.
template <class Object, class Body>
rondo_status with(const typename HandleOf<Object>::Handle* handle, Body&& body) noexcept {
  return guarded([&]() -> Status {
    const Result<Object*> object = object_of<Object>(handle);
    if (!object) return object.error();
    return body(**object);
  });
}

// Null in `into` until `make` has made an object: it returns a Result<std::unique_ptr<Object>>.
template <class Object, class Make>
rondo_status create(typename HandleOf<Object>::Handle** into, const char* name, Make&& make) noexcept {
  return guarded([&]() -> Status {
    if (Status status = not_null(into, name); !status) return status;
    *into = nullptr;
    Result<std::unique_ptr<Object>> made = make();
    if (!made) return made.error();
    *into = new_handle(std::move(made).value());
    return success();
  });
}

template <class Object>
rondo_status destroy(typename HandleOf<Object>::Handle* handle) noexcept {
  return guarded([&]() -> Status {
    const auto object = taken_object<Object>(handle);
    return object ? success() : Status(object.error());
  });
}

template <class T, class Into>
Status give(const Result<T>& found, Into* into) {
  if (!found) return found.error();
  *into = *found;
  return success();
}

// An element of a list. Error Input where there is none.
template <class Element>
Result<const Element*> element_of(const std::vector<Element>& list, std::int32_t index, const char* what) {
  if (index >= 0 && static_cast<std::size_t>(index) < list.size())
    return &list[static_cast<std::size_t>(index)];
  return Error{ErrorKind::Input,
               fmt::format("there is no {} {}: there are {}, from 0", what, index, list.size())};
}

}  // namespace rondo::capi
